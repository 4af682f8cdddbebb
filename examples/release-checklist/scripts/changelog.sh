set -eu
mkdir -p out
{ echo "## $1"; echo; sed 's/^/- /' changes.txt; } > out/CHANGELOG.md
echo "$(wc -l < changes.txt) changes"
