set -eu
mkdir -p out
echo "$1" > out/VERSION
echo "out/VERSION says $1"
