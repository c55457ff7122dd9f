"""Where the time of maps goes: Upshift's own functions, watched for as long as somebody asks; spans and totals out."""
