# What the agents of the tea house say and do in place of a model: sh rehearsal.sh PART SECONDS
# Each line of JSON is shown in the agent's log, as the answers of a model are. The figures are invented.
part=$1 pause=$2

say() { printf '{"toryo": "said", "text": "%s"}\n' "$1"; sleep "$pause"; }
call() { printf '{"toryo": "called", "tool": "%s", "arguments": {"%s": "%s"}}\n' "$1" "$2" "$3"; sleep "$pause"; }
back() { printf '{"toryo": "returned", "text": "%s"}\n' "$1"; }
failed() { printf '{"toryo": "returned", "failed": true, "text": "%s"}\n' "$1"; }
used() {
    printf '{"toryo": "used", "model": "rehearsed", "input_tokens": %s, "cached_tokens": %s, "output_tokens": %s, "cost_usd": %s}\n' "$@"
}

case $part in
menu)
    say 'I write the menu from the list of teas.'
    call Read file_path menu.csv
    back '4 teas'
    say 'Cold tea goes last: few people order it before summer.'
    call Edit file_path menu.md
    {
        echo '# Menu'
        echo
        while IFS=, read -r tea price; do echo "- $tea: $price EUR"; done < menu.csv
    } > menu.md
    back 'menu.md: 6 lines'
    call Bash command 'grep -c EUR menu.md'
    back 4
    say 'All four teas have a price. The menu is complete.'
    used 18400 9200 640 0.1105
    ;;
hours)
    if [ ! -f hours.md ]; then
        say 'I write down when the tea house is open.'
        call Edit file_path hours.md
        printf '# Opening hours\n\n- Monday to Friday: 9 to 18\n- Saturday: 10 to 17\n' > hours.md
        back 'hours.md: 4 lines'
        call Bash command 'grep Sunday hours.md'
        failed 'exit code 1'
        used 9100 4300 310 0.0525
        echo 'hours.md says nothing about Sunday.' >&2
        exit 1
    fi
    say 'The last try forgot Sunday. I add it.'
    call Edit file_path hours.md
    echo '- Sunday: closed' >> hours.md
    back 'hours.md: 5 lines'
    call Bash command 'grep Sunday hours.md'
    back '- Sunday: closed'
    used 12600 8800 270 0.0610
    echo 'hours.md has all seven days.'
    ;;
japanese)
    say 'I translate the menu into Japanese, tea by tea.'
    call Read file_path menu.md
    back '6 lines'
    call Edit file_path menu_ja.md
    printf '# お品書き\n\n- 煎茶: 4.50 EUR\n- 玉露: 7.00 EUR\n- ほうじ茶: 4.00 EUR\n- 水出し緑茶: 5.00 EUR\n' > menu_ja.md
    back 'menu_ja.md: 6 lines'
    say 'The names follow the labels on the boxes.'
    used 15200 11900 820 0.0970
    ;;
links)
    call Read file_path index.md
    back '3 lines'
    call Edit file_path index.md
    printf '# Tea house\n\n- [Menu](menu.md), [日本語](menu_ja.md)\n- [Opening hours](hours.md)\n' > index.md
    back 'index.md: 4 lines'
    say 'The first page leads to all the others. The website is ready for your review.'
    used 21800 17300 450 0.1240
    ;;
esac
