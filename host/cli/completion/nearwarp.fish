# Completion of nearwarp's command line for fish, which asks the program.
function __nearwarp_words
    set -l typed (commandline -opc)
    set -l raw (commandline -ct)
    set -l word (string unescape -- $raw 2> /dev/null; or string trim -l -c "'\"" -- $raw)
    set -l answer ($typed[1] completion -- $typed[2..] "$word" 2> /dev/null)
    for line in $answer
        set -l parts (string split -m 1 \t -- $line)
        if test "$parts[1]" = ":files"
            set -l before "$parts[2]"
            set -l rest (string sub -s (math 1 + (string length -- "$before")) -- "$word")
            for file in (__fish_complete_path "$rest")
                echo $before$file
            end
        else
            echo $line
        end
    end
end
complete -c nearwarp -f -a '(__nearwarp_words)'
