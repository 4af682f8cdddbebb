set -eu
{ echo "files: $(find out/data -type f | wc -l | tr -d ' ')"; echo "bytes: $(cat out/data/* | wc -c | tr -d ' ')"; } > out/report.txt
cat out/report.txt
