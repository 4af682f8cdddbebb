# The program to release.
echo "Hello, ${1:-world}!"
