#!/bin/sh
# Unpacks Neovim 0.10 of Debian 13 under target/neovim, from the mirror that this system uses; nothing else of the system changes.
set -e
here=$(cd "$(dirname "$0")/../../.." && pwd)
folder="$here/target/neovim"
mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
: > "$folder/status"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' | awk '$2 == "main" && $1 ~ /\/debian\/?$/ { print $1; exit }')
[ -n "$mirror" ] || { echo "this system has no mirror of Debian; install Neovim 0.10 or later" >&2; exit 1; }
echo "deb $mirror trixie main" > "$folder/sources.list"
cat > "$folder/apt.conf" <<END
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
END
APT_CONFIG="$folder/apt.conf" apt-get update
APT_CONFIG="$folder/apt.conf" apt-get install --no-install-recommends --yes --download-only neovim
for package in "$folder"/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$folder/root"
done
