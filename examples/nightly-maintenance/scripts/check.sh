set -eu
case $1 in '' | *[!0-9]*) echo "$1 is not a number of kB" >&2; exit 2 ;; esac
used=$(cat out/data/* | wc -c)
echo "$((used / 1000)) kB of $1 kB are used"
test "$used" -le "$(($1 * 1000))"
