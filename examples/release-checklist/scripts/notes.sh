set -eu
{ echo "# Greeter $1"; echo; echo "What is new:"; sed 1,2d out/CHANGELOG.md; } > out/NOTES.md
