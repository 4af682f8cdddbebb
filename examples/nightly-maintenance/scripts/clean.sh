set -eu
find out/data -type f -mtime +30 | while read -r file; do
    rm "$file"
    echo "removed $file"
done
