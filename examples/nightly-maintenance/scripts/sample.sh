# Creates sample files: an old file, a new one, and a log of 200 kB.
set -eu
mkdir -p out/data
echo old > out/data/old.txt
touch -t 202001010000 out/data/old.txt
echo young > out/data/young.txt
head -c 200000 /dev/zero | tr '\0' x > out/data/big.log
