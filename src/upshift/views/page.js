// Hover, toggles and the theme of a page that is complete without them. All texts are set as text.
"use strict";
(() => {
  const root = document.querySelector(".upshift");
  const tip = document.createElement("div");
  tip.className = "tip"; tip.hidden = true; tip.setAttribute("role", "tooltip");
  root.append(tip);
  const hide = () => { tip.hidden = true; };
  const show = (text, event) => {
    tip.textContent = text; tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + "px";
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4)) + "px";
  };
  const time = s => s >= 1 ? +s.toPrecision(3) + " s" : s >= 1e-3 ? +(s * 1e3).toPrecision(3) + " ms"
    : s >= 1e-6 ? +(s * 1e6).toPrecision(3) + " us" : +(s * 1e9).toPrecision(3) + " ns";

  for (const element of root.querySelectorAll("[data-tip]:not(circle)")) {
    element.addEventListener("mousemove", event => show(element.dataset.tip, event));
    element.addEventListener("mouseleave", hide);
  }

  for (const figure of root.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg"), data = figure.querySelector("script");
    if (!svg || !data) continue;
    const series = JSON.parse(data.textContent), off = new Set();
    const [lowX, highX] = svg.dataset.axes.split(" ").map(Number);
    const frame = svg.querySelectorAll(".grid");
    const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
    cursor.setAttribute("class", "cursor off"); cursor.setAttribute("y1", 30); cursor.setAttribute("y2", 336);
    svg.append(cursor);
    const left = +frame[0].getAttribute("x1"), right = +frame[frame.length - 1].getAttribute("x2");
    const at = (points, n) => {
      if (!points.length || n < points[0][0] || n > points[points.length - 1][0]) return null;
      for (let i = 1; i < points.length; i++) if (n <= points[i][0]) {
        const [[a, s], [b, t]] = [points[i - 1], points[i]];
        return Math.exp(Math.log(s) + (Math.log(t) - Math.log(s)) * (Math.log(n / a) / Math.log(b / a)));
      }
      return points[0][1];
    };
    svg.addEventListener("mousemove", event => {
      const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      if (x < left || x > right) { cursor.classList.add("off"); return hide(); }
      const n = Math.max(1, Math.round(10 ** (lowX + (x - left) / (right - left) * (highX - lowX))));
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x); cursor.classList.remove("off");
      const found = series.filter(one => !off.has(one.name)).map(one => [at(one.points, n), one.name])
        .filter(pair => pair[0] !== null).sort((a, b) => a[0] - b[0]);
      show([n.toLocaleString("en") + " " + figure.dataset.what, ...found.map(([s, name]) => name + ": " + time(s))].join("\n"), event);
    });
    svg.addEventListener("mouseleave", () => { hide(); cursor.classList.add("off"); });
    for (const button of figure.querySelectorAll("button[data-toggle]")) button.addEventListener("click", () => {
      const name = button.dataset.toggle, on = off.has(name);
      if (on) off.delete(name); else off.add(name);
      button.setAttribute("aria-pressed", on);
      for (const one of svg.querySelectorAll("[data-series]")) if (one.dataset.series === name) one.classList.toggle("off", !on);
    });
  }

  for (const line of root.querySelectorAll(".sources [data-line]")) {
    const same = [...root.querySelectorAll(".sources [data-line]")].filter(one => one.dataset.line === line.dataset.line);
    line.addEventListener("mouseenter", () => same.forEach(one => one.classList.add("lit")));
    line.addEventListener("mouseleave", () => same.forEach(one => one.classList.remove("lit")));
  }

  const theme = root.querySelector("button.theme");
  if (theme) theme.addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
})();
