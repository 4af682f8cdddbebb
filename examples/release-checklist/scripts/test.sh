set -eu
test "$(sh greeter.sh)" = "Hello, world!"
test "$(sh greeter.sh Ann)" = "Hello, Ann!"
echo "2 tests passed"
