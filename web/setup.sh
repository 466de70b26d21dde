#!/usr/bin/env bash
# Installs what the web package is built and tested with: Emscripten, Node and Chromium from Debian, npm packages
# from web/package-lock.json. Ends with status 3, and says why, where that cannot be done; without Chromium, only the
# tests in a browser are skipped.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
command -v em++ > /dev/null || missing+=(emscripten)
command -v node > /dev/null || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then
    echo "web: ${missing[*]} must be installed, and cannot be from here" >&2
    exit 3
  fi
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null || {
    echo "web: apt-get cannot install ${missing[*]}" >&2
    exit 3
  }
fi
if [ "$(node -p 'Number(process.versions.node.split(".")[0]) >= 20')" != true ]; then
  echo "web: Node $(node --version) is too old: version 20 or later is needed" >&2
  exit 3
fi
if ! command -v chromium > /dev/null && [ ! -e "${CHROMIUM:-}" ]; then
  { [ "$(id -u)" = 0 ] && command -v apt-get && apt-get install -y -qq --no-install-recommends chromium; } > /dev/null ||
    echo "web: chromium is not installed, and cannot be from here: the tests in a browser are skipped" >&2
fi
if [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --silent || { echo "web: npm cannot install what package-lock.json lists" >&2; exit 3; }
fi
