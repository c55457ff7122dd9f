"""OpenCV's and scikit-image's functions of an image that make another of a fixed size: by name, not imported for them.

Neither takes a stack of images. Called for every lane, each into its place, they are faster than the loop, which
gathers images and copies them when they have left the caches; OpenCV frees the interpreter, so that threads help.
"""

from __future__ import annotations

import sys
from typing import Any

from ...libraries import FOREIGN
from .call import Rule, by_rows

_OPENCV = (
    "GaussianBlur Laplacian Scharr Sobel absdiff add addWeighted bilateralFilter bitwise_and bitwise_not bitwise_or "
    "bitwise_xor blur boxFilter convertScaleAbs copyMakeBorder cvtColor dilate distanceTransform divide equalizeHist "
    "erode filter2D flip getAffineTransform getPerspectiveTransform getRotationMatrix2D inRange integral magnitude "
    "matchTemplate medianBlur morphologyEx multiply normalize phase pyrDown pyrUp remap resize rotate sepFilter2D "
    "subtract transpose warpAffine warpPerspective"
)
"""What they are called with is all that they see, and what they give back all that they make."""
_SCIKIT = "rotate resize rescale"

IMAGES: dict[str, Rule] = {
    **{f"cv2.{name}": by_rows for name in _OPENCV.split()},
    **{f"skimage.transform.{name}": by_rows for name in _SCIKIT.split()},
}


def is_foreign(fn: Any) -> bool:
    """Whether a function is one of OpenCV's or scikit-image's."""
    return module_of(fn).split(".")[0] in FOREIGN


def module_of(fn: Any) -> str:
    """The module of a function; OpenCV's do not say it."""
    named = getattr(fn, "__module__", None)
    opencv: Any = None if named else sys.modules.get("cv2")
    if opencv is not None and getattr(opencv, getattr(fn, "__name__", ""), None) is fn:
        return "cv2"
    return named or ""


def name_of(fn: Any) -> str:
    """A function of a library by its public name: its package and its own."""
    return ".".join([*module_of(fn).split(".")[:2], getattr(fn, "__name__", "")])
