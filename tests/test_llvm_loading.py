"""LLVM is llvmlite's library, called without its Python: by its own signatures, on any thread, however it is loaded."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

from upshift.compiler import llvm
from upshift.gears.job import Job

TEXT = "define i64 @twice(i64 %a) {{\n  %b = mul i64 %a, {factor}\n  ret i64 %b\n}}\n"


def test_signatures_are_those_that_llvmlite_declares():
    assert llvm.differences() == []


def test_another_signature_is_told(monkeypatch):
    monkeypatch.setitem(llvm.SIGNATURES, "ParseAssembly", "p:ps")
    monkeypatch.setitem(llvm.SIGNATURES, "GetHostCPUName", "i:i")
    assert [problem.split()[0] for problem in llvm.differences()] == ["GetHostCPUName", "ParseAssembly"]


def test_an_unknown_version_is_compared(monkeypatch):
    monkeypatch.setattr(llvm, "KNOWN", ("none",))
    llvm.Llvm()
    monkeypatch.setitem(llvm.SIGNATURES, "ParseAssembly", "p:ps")
    with pytest.raises(ImportError, match="ParseAssembly"):
        llvm.Llvm()


def test_ir_that_is_none_is_an_error():
    with pytest.raises(RuntimeError, match="IR"):
        llvm.llvm().object_code("define i64 @f() { ret double 1.0 }", (), 0)


def test_threads_compile_at_once():
    import ctypes

    made, found = llvm.llvm(), {}

    def compile_one(factor):
        for level in (0, 2):
            code = made.object_code(TEXT.format(factor=factor), None if level else (), level)
            linked = made.link(f"test{factor}{level}", code, ("twice",), {})
            function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(linked.addresses["twice"])
            found[factor, level] = function(7)

    threads = [threading.Thread(target=compile_one, args=(factor,)) for factor in range(2, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {(factor, level): 7 * factor for factor in range(2, 12) for level in (0, 2)}


BEGIN = "threading.Thread(target=gear.load).start()"
LOADS = {
    "by a call": "assert not gear.is_loaded()",
    "at once": "gear.load()\nassert gear.is_loaded()",
    "in the background": "{begin}\nwhile not gear.is_loaded():\n    sum(range(1000))",
    "in the background, and used meanwhile": "{begin}",
}


@pytest.mark.parametrize("way", LOADS)
def test_it_is_loaded(way):
    script = """
        import sys, threading
        import upshift as up
        from upshift.gears.llvm import gear

        assert not gear.is_loaded()
        {load}
        xs = [float(i) for i in range(30)]
        assert up.map(lambda x: x * 2 + 1, xs, gear="llvm").tolist() == [x * 2 + 1 for x in xs]
        assert gear.is_loaded()
        assert "llvmlite.binding" not in sys.modules
    """
    script = textwrap.dedent(script).format(load=LOADS[way].format(begin=BEGIN))
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_child_that_is_forked_meanwhile_has_it():
    script = """
        import os, threading
        import upshift as up
        from upshift.gears.llvm import gear

        {begin}
        child = os.fork()
        xs = [float(i) for i in range(30)]
        assert up.map(len, [[1], [2, 3]], gear="loop").tolist() == [1, 2]
        assert up.map(abs, xs).tolist() == xs
        assert gear.is_loaded()
        assert up.map(lambda x: x + 1, xs, gear="llvm").tolist() == [x + 1 for x in xs]
        if child:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        else:
            os._exit(0)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script).format(begin=BEGIN)], check=True, timeout=60)


def test_where_it_cannot_be_loaded_the_arm_is_refused(monkeypatch):
    """On whatever thread that was found; the loop goes on."""
    from upshift.gears.llvm import gear
    from upshift.plan import arms
    from upshift.plan.ledger import Arm, Ledger

    def fails():
        raise OSError("there is no such library")

    monkeypatch.setattr(gear, "is_loaded", lambda: False)
    monkeypatch.setattr(gear, "load", fails)
    monkeypatch.setattr(threading, "excepthook", lambda found: pytest.fail(f"{found.exc_value}"))
    ledger = Ledger([Arm("loop", ready=True, sure=True)])
    ledger.ran(ledger.arms[0], 1000, 1.0)
    arm = arms.Llvm(lambda x: x + 1.0, lambda: ledger, arms.Items())
    job = Job(arm.f, [[1.0] * 1000], {}, 1000)
    for _ in range(20):  # the check, which is broken off where the machine is busy, and LLVM
        arm.build(job, 1000)
        for thread in threading.enumerate():
            if thread.name.startswith("upshift "):
                thread.join(60)
        if arm.refusal is not None:
            break
    assert arm.refusal is not None and "no such library" in arm.refusal.reason
