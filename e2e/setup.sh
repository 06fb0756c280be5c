# Sourced by `demo` and `test`: finds or installs what they need. Sets and exports CHROMIUM.
# Needs Rust (cargo) and Node 20 or newer; installs npm packages into e2e/node_modules, and a browser only if there is none.

say() { printf '\033[1m==>\033[0m %s\n' "$*" >&2; }
if [ -n "${NO_COLOR:-}" ] || [ ! -t 2 ]; then say() { printf '==> %s\n' "$*" >&2; }; fi
die() { printf 'error: %s\n' "$*" >&2; exit 2; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

need() {
  command -v "$1" >/dev/null 2>&1 && return
  command -v apt-get >/dev/null 2>&1 || die "$1 is missing; install it and run this again"
  say "installing $2 ($1 is missing)"
  as_root apt-get update -qq
  DEBIAN_FRONTEND=noninteractive as_root apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

command -v cargo >/dev/null 2>&1 || die "cargo is missing; install Rust from https://rustup.rs"
command -v node >/dev/null 2>&1 || die "node is missing; install Node 20 or newer"
[ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ] || die "node $(node --version) is too old; install Node 20 or newer"

install_packages() {
  if [ ! -d "$e2e/node_modules/@playwright/test" ] || [ "$e2e/package-lock.json" -nt "$e2e/node_modules/.package-lock.json" ]; then
    say "installing the npm packages of e2e/"
    (cd "$e2e" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error)
  fi
}

# Older Playwrights, which the fixture must work with as well.
install_versions() {
  local folder
  for folder in "$e2e"/versions/*/; do
    [ -d "$folder/node_modules/@playwright/test" ] && continue
    say "installing Playwright $(basename "$folder")"
    (cd "$folder" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm ci --no-audit --no-fund --loglevel=error)
  done
}

playwright_browser() { (cd "$e2e" && node -p 'require("@playwright/test").chromium.executablePath()' 2>/dev/null); }

find_browser() {
  if [ -n "${CHROMIUM:-}" ]; then
    [ -x "$CHROMIUM" ] || die "CHROMIUM=$CHROMIUM is no program"
    return
  fi
  CHROMIUM=$(playwright_browser || true)
  if [ -z "$CHROMIUM" ] || [ ! -x "$CHROMIUM" ]; then
    CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
  fi
}

browser() {
  find_browser
  if [ -z "$CHROMIUM" ]; then
    if command -v apt-get >/dev/null 2>&1; then
      need chromium chromium
    else
      say "installing Playwright's Chromium"
      (cd "$e2e" && npx playwright install chromium)
    fi
    find_browser
  fi
  [ -n "$CHROMIUM" ] || die "no Chromium was found or installed; set CHROMIUM to one"
  export CHROMIUM
}
