#!/usr/bin/env python3
"""Adds a task to a unit of push_type.py: `add_task.py web-a`, for `conveyor conform push-type … --add-task`."""

import json
import os
import sys
import urllib.request

URL = os.environ.get("PUSH_TYPE_URL", "http://127.0.0.1:4630")
urllib.request.urlopen(f"{URL}/grow", json.dumps({"unit": sys.argv[1]}).encode(), timeout=10).read()
