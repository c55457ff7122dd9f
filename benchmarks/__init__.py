"""In: functions of one element and data. Out: how fast each way to map them is, measured side by side."""
