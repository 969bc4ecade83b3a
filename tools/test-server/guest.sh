#!/usr/bin/env bash
# guest.sh PORT: a test server at that port, which lives as long as this process; Host.java runs it.
exec 3<>"/dev/tcp/127.0.0.1/$CONVEYOR_TEST_SERVER_HOST" || exit 1
echo "$1" >&3
read -r -u 3
