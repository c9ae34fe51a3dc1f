# Completion of nearwarp's command line for fish, which asks the program.
function __nearwarp_words
    set -l typed (commandline -opc)
    set -l answer ($typed[1] completion -- $typed[2..] (commandline -ct) 2> /dev/null)
    for line in $answer
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c nearwarp -f -a '(__nearwarp_words)'
