# translate.sh LANGUAGE FILE: translates word by word from a list. A model would do this in a real team.
set -eu
case $2 in */*) echo "$2 is not the name of a file in texts/" >&2; exit 2 ;; esac
mkdir -p "out/$1"
awk 'NR == FNR { word[$1] = $2; next }
     { for (i = 1; i <= NF; i++) { if (!($i in word)) { print "no word for " $i > "/dev/stderr"; exit 1 } $i = word[$i] } print }' \
    "words/$1.txt" "texts/$2" > "out/$1/$2"
cat "out/$1/$2"
