#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: Python, and the packages of requirements.txt.
# Works on Debian and Ubuntu.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
environment="$(dirname "$here")/venv"

find_python() {
    local candidate
    for candidate in python3.11 python3.12 python3.13 python3; do
        if "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; then
            command -v "$candidate"
            return
        fi
    done
    return 1
}

if ! python="$(find_python)"; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    for version in 3.12 3.11; do
        apt-get install -y -qq --no-install-recommends "python$version" "python$version-venv" && break
    done
    rm -rf /var/lib/apt/lists/*
    python="$(find_python)" || { echo "setup: no Python 3.11 or later; choose a newer base image" >&2; exit 1; }
fi

"$python" -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --no-cache-dir --only-binary :all: --retries 5 --timeout 60 \
    --disable-pip-version-check -r "$here/requirements.txt"

chmod -R go= "$here"    # the references and the secret are nobody's but root's
cd "$here"
"$environment/bin/python" -m compileall -q autograder
"$environment/bin/python" -m autograder.reports.gradescope --help > /dev/null
"$environment/bin/python" -c 'import torch; print("setup: done, with torch", torch.__version__)'
