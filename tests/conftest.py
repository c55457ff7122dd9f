"""Nothing that a test makes Upshift remember goes to the user's own notes."""

from __future__ import annotations

import os
import tempfile

os.environ["UPSHIFT_CACHE_DIR"] = tempfile.mkdtemp(prefix="upshift-tests-")
