set -eu
used=$(cat out/data/* | wc -c)
echo "$((used / 1000)) kB of $1 kB are used"
test "$used" -le "$(($1 * 1000))"
