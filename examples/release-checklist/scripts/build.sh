set -eu
tar -cf "$1" greeter.sh -C out VERSION CHANGELOG.md
tar -tf "$1"
