set -eu
(cd out && find de fr -type f | sort) > out/CONTENTS.txt
cat out/CONTENTS.txt
