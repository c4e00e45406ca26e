"""Memory that is freed stays with the process, also in threads; modules are not looked through for garbage."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource, threading
import numpy as np
from explorer.allocation import keep_freed_memory

def faults(count: int) -> int:
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(count):
        for array in [np.ones(1 << 18, np.float32) for _ in range(4)]:
            array += 1
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before

def work() -> None:
    faults(20)
    print(faults(100))

told = keep_freed_memory()
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(told)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc can be told")
def test_freed_arrays_come_back_without_page_faults() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    faults, told = done.stdout.split()
    if told == "False":
        pytest.skip("this C library cannot be told")
    assert int(faults) < 100, "400 arrays of 256 pages each"


def test_modules_that_last_are_not_looked_through() -> None:
    program = """
import gc
from explorer.allocation import lasting_imports
before = gc.get_freeze_count()
with lasting_imports():
    assert not gc.isenabled()
    import sqlalchemy.orm
assert gc.isenabled()
assert gc.get_freeze_count() > before + 10_000
class Cycle: pass
one = Cycle(); one.self = one; del one
gc.collect()
assert not [o for o in gc.get_objects() if type(o) is Cycle], "what comes later is looked through"
gc.disable()
with lasting_imports():
    pass
assert not gc.isenabled()
"""
    subprocess.run([sys.executable, "-c", program], check=True)
