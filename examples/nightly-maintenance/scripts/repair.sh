set -eu
for log in out/data/*.log; do
    tail -c 1000 "$log" > "$log.short"
    mv "$log.short" "$log"
    echo "shortened $log"
done
