"""How long pictures are decoded and encoded, so that it can be told apart from our own work."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from typing import Any


class PictureTime:
    """CPU seconds that all threads have spent in Pillow's decoders and encoders since this was made."""

    def __init__(self) -> None:
        from PIL import Image, ImageFile

        self.seconds = 0.0
        self._lock = threading.Lock()
        self._inside = threading.local()
        for owner, name in ((ImageFile.ImageFile, "load"), (Image.Image, "save")):
            setattr(owner, name, self._timed(getattr(owner, name)))

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **options: Any) -> Any:
            if getattr(self._inside, "deep", False):  # saving a picture loads it first: counted once
                return function(*args, **options)
            self._inside.deep = True
            started = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                self._inside.deep = False
                with self._lock:
                    self.seconds += time.thread_time() - started

        return timed
