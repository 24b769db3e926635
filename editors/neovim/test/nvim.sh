#!/bin/sh
# Runs Neovim 0.10 or later: the one in PATH, or the one that install.sh has put under target/neovim.
has_hints='if !has("nvim-0.10") | cquit | endif'
if command -v nvim > /dev/null && nvim --headless -u NONE "+$has_hints" +quit > /dev/null 2>&1; then
    exec nvim "$@"
fi
here=$(cd "$(dirname "$0")/../../.." && pwd)
root="$here/target/neovim/root"
libraries="$root/usr/lib/x86_64-linux-gnu"
VIMRUNTIME="$root/usr/share/nvim/runtime"
LUA_CPATH="$libraries/lua/5.1/?.so"
export VIMRUNTIME LUA_CPATH
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$root/usr/bin/nvim" "$@"
