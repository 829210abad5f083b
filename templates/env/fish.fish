@@script
@HEADER@
#
# Source it, as often as you like:   source FILE
# Undo it:                           sage_doctor_deactivate
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone
# exactly and told from your own values.

# Takes back what these notes say, whichever run made them. A value that was
# changed since is left alone.
function sage_doctor_undo
    set -l --path names $SAGE_DOCTOR_ENV_NAMES
    for name in $names
        string match --quiet --regex '^[A-Za-z_][A-Za-z0-9_]*$' -- $name; or continue
        set -l old SAGE_DOCTOR_ENV_OLD_$name
        set -l value SAGE_DOCTOR_ENV_SET_$name
        set -l added SAGE_DOCTOR_ENV_ADDED_$name
        if not set -q $name
        else if set -q $added
            set -l --path rest "$$name"
            set -l --path elements "$$added"
            for element in $elements
                set -l kept
                set -l taken no
                for folder in $rest
                    if test $taken = no -a "$folder" = "$element"
                        set taken yes
                    else
                        set -a kept "$folder"
                    end
                end
                set rest $kept
            end
            if set -q rest[1]; or set -q $old
                set -gx $name $rest
            else
                set -e $name
            end
        else if test "$$name" = "$$value"
            if set -q $old
                set -gx $name "$$old"
            else
                set -e $name
            end
        end
        set -e $old
        set -e $value
        set -e $added
    end
    set -e SAGE_DOCTOR_ENV
    set -e SAGE_DOCTOR_ENV_NAMES
end

function sage_doctor_deactivate --description 'Undo the settings of sage-doctor env'
    sage_doctor_undo
    functions --erase sage_doctor_undo sage_doctor_deactivate
end

# NAME: notes that NAME was changed.
function sage_doctor_note
    if test -n "$SAGE_DOCTOR_ENV_NAMES"
        set -gx SAGE_DOCTOR_ENV_NAMES "$SAGE_DOCTOR_ENV_NAMES:$argv[1]"
    else
        set -gx SAGE_DOCTOR_ENV_NAMES $argv[1]
    end
end

# NAME VALUE: gives NAME this value and notes what it was.
function sage_doctor_force
    set -l name $argv[1]
    if set -q $name
        test "$$name" = "$argv[2]"; and return 0
        set -gx SAGE_DOCTOR_ENV_OLD_$name "$$name"
    end
    set -gx SAGE_DOCTOR_ENV_SET_$name $argv[2]
    set -gx $name $argv[2]
    sage_doctor_note $name
end

# The same, unless NAME has a value of your own.
function sage_doctor_set
    set -l name $argv[1]
    if not set -q $name; or test -z "$$name"
        sage_doctor_force $argv
    end
end

# NAME FOLDER: puts FOLDER in front of the list NAME, unless it is in front already.
function sage_doctor_prepend
    set -l name $argv[1]
    set -l added SAGE_DOCTOR_ENV_ADDED_$name
    set -l --path rest "$$name"
    if set -q rest[1]; and test "$rest[1]" = "$argv[2]"
        return 0
    end
    if not set -q $added
        sage_doctor_note $name
        set -q $name; and set -gx SAGE_DOCTOR_ENV_OLD_$name ''
        set -gx --path $added $argv[2]
    else
        set -gx --path $added $argv[2] $$added
    end
    if test -n "$$name"
        set -gx --path $name $argv[2] $rest
    else
        set -gx --path $name $argv[2]
    end
end

sage_doctor_undo
set -gx SAGE_DOCTOR_ENV @MARK@
set -gx SAGE_DOCTOR_ENV_NAMES ''

@SETTINGS@
functions --erase sage_doctor_note sage_doctor_force sage_doctor_set sage_doctor_prepend
@@set
# @WHY@
sage_doctor_set @VARIABLE@ @VALUE@

@@force
# @WHY@
sage_doctor_force @VARIABLE@ @VALUE@

@@prepend
# @WHY@
@ELEMENTS@

@@element
sage_doctor_prepend @VARIABLE@ @VALUE@
@@kept
# @KEEPS@

@@failure
echo @REASON@ >&2; return 1
