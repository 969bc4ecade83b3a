#!/bin/sh
# Stands in for Argo CD: a cluster that runs the newest commit of a branch. The change comes as JSON on the standard input; the answer says of which
# revision it speaks. Ask your own tool here.
set -eu
revision=$(git --git-dir "$1" rev-parse refs/heads/main)
printf '{"state":"live","revision":"%s"}\n' "$revision"
