"""Shift the clock that Python reads in this process; tests put it on the PYTHONPATH of the service.

`$CLOCK_FOLDER/worker` and `$CLOCK_FOLDER/web` hold the seconds by which the clocks of Celery and of gunicorn
are ahead. They are read on every call, so a test can make a clock jump. The monotonic clock is not shifted.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import time
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

_FILE = Path(os.environ["CLOCK_FOLDER"]) / ("worker" if "celery" in sys.orig_argv else "web")
_now, _time, _time_ns = datetime.now, time.time, time.time_ns


def _offset() -> float:
    return float(_FILE.read_text() or 0) if _FILE.exists() else 0.0


def _shifted_now(_class: type[datetime], tz: tzinfo | None = None) -> datetime:
    return _now(tz) + timedelta(seconds=_offset())


# `datetime` is immutable, but the dictionary behind its `__dict__` proxy can be changed.
[_attributes] = gc.get_referents(datetime.__dict__)
_attributes["now"] = classmethod(_shifted_now)
ctypes.pythonapi.PyType_Modified(ctypes.py_object(datetime))
time.time = lambda: _time() + _offset()
time.time_ns = lambda: _time_ns() + round(_offset() * 1e9)
