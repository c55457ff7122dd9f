"""`python -m upshift` is `upshift`."""

from .cli import main

raise SystemExit(main())
