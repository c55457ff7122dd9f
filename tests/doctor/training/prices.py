"""Fits a linear model of prices, from a table that is cleaned, extended and split, with NumPy and pandas."""

import sys

import numpy as np
import pandas as pd

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 400
STEPS = 60


def make_table(rows):
    """Flats with an area, a floor, an age and a price."""
    rng = np.random.default_rng(3)
    area = rng.uniform(20.0, 200.0, rows)
    floor = rng.integers(0, 12, rows).astype(float)
    age = rng.uniform(0.0, 90.0, rows)
    noise = rng.normal(0.0, 5.0, rows)
    price = 3.0 * area - 0.7 * age + 1.5 * floor + noise
    return pd.DataFrame({"area": area, "floor": floor, "age": age, "price": price})


def grade(age):
    """A factor for the age of a house."""
    if age < 10.0:
        return 1.2
    if age < 50.0:
        return 1.0
    return 0.8


def clean(table):
    """Leave out what cannot be."""
    table = table[table["area"] > 0.0]
    return table[table["price"] > 0.0].reset_index(drop=True)


def extend(table):
    """More columns: one value, one row, one Python call at a time."""
    df = pd.DataFrame(table)
    df["rate"] = df.apply(lambda row: row["price"] / row["area"], axis=1)
    df["factor"] = df["age"].map(grade)
    df["height"] = df["floor"].map(lambda f: f * 3.0 + 1.0)
    df["score"] = df.apply(lambda row: row["area"] * 2.0 + row["height"], axis=1)
    return df


def count_expensive(df):
    """A loop over rows."""
    count = 0
    for _, row in df.iterrows():
        if row["rate"] > 3.0:
            count += 1
    return count


def standardise(columns):
    """Mean zero, deviation one, for each column."""
    return (columns - columns.mean(axis=0)) / columns.std(axis=0)


def spread(row):
    return row.max() - row.min()


def fit(features, target):
    """Gradient descent; the weights, and the loss after each step."""
    weights = np.zeros(features.shape[1])
    losses = []
    for _ in range(STEPS):
        error = features @ weights - target
        weights = weights - 0.1 * (features.T @ error) / len(target)
        losses.append(float((error * error).mean()))
    return weights, losses


def squash(x):
    return x / (1.0 + abs(x))


def main():
    table = clean(make_table(ROWS))
    df = extend(table)
    print(df.shape, list(df.columns))
    print("expensive", count_expensive(df))
    print(df["score"].describe().round(3).to_string())
    features = standardise(df[["area", "floor", "age", "factor"]].to_numpy())
    target = df["price"].to_numpy()
    target = target - target.mean()
    weights, losses = fit(features, target)
    print("weights", np.round(weights, 3))
    print("loss", f"{losses[0]:.2f}", f"{losses[-1]:.2f}")
    ranges = np.apply_along_axis(spread, 1, features)
    print("ranges", f"{ranges.sum():.4f}")
    squashed = np.vectorize(squash)(features)
    print("squashed", f"{squashed.sum():.6f}")
    grid = np.linspace(0.0, 1.0, 500)
    curve = [3.0 * x * x - 2.0 * x + 1.0 for x in grid]
    print("curve", f"{sum(curve):.9f}", len(curve))
    residual = target - features @ weights
    total = 0.0
    for i in range(len(residual)):
        total += residual[i] * residual[i]
    print("residual", f"{total / len(residual):.4f}")


if __name__ == "__main__":
    main()
