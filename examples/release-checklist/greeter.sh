# The program that is released.
echo "Hello, ${1:-world}!"
