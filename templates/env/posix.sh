@@script
# shellcheck shell=sh disable=SC2016
@HEADER@
#
# Source it, as often as you like:   . ./FILE
# Undo it:                           sage_doctor_deactivate
# Lasting places for that line are ~/.profile and job scripts; shells that nobody
# types into leave ~/.bashrc early.
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone
# exactly and told from your own values.

# Takes back what these notes say, whichever run made them. A value that was
# changed since is left alone.
sage_doctor_undo() {
  sage_doctor_names=${SAGE_DOCTOR_ENV_NAMES-}
  while [ -n "$sage_doctor_names" ]; do
    sage_doctor_name=${sage_doctor_names%%:*}
    sage_doctor_names=${sage_doctor_names#"$sage_doctor_name"}
    sage_doctor_names=${sage_doctor_names#:}
    case $sage_doctor_name in
      '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;;
    esac
    sage_doctor_is='' sage_doctor_value='' sage_doctor_had='' sage_doctor_old='' sage_doctor_set='' sage_doctor_added=''
    eval "sage_doctor_is=\${$sage_doctor_name+x} sage_doctor_value=\${$sage_doctor_name-}"
    eval "sage_doctor_had=\${SAGE_DOCTOR_ENV_OLD_$sage_doctor_name+x}"
    eval "sage_doctor_old=\${SAGE_DOCTOR_ENV_OLD_$sage_doctor_name-}"
    eval "sage_doctor_set=\${SAGE_DOCTOR_ENV_SET_$sage_doctor_name-}"
    eval "sage_doctor_added=\${SAGE_DOCTOR_ENV_ADDED_$sage_doctor_name-}"
    unset -v "SAGE_DOCTOR_ENV_OLD_$sage_doctor_name"
    unset -v "SAGE_DOCTOR_ENV_SET_$sage_doctor_name"
    unset -v "SAGE_DOCTOR_ENV_ADDED_$sage_doctor_name"
    if [ -z "$sage_doctor_is" ]; then continue; fi
    if [ -n "$sage_doctor_added" ]; then
      while [ -n "$sage_doctor_added" ]; do
        sage_doctor_element=${sage_doctor_added%%:*}
        sage_doctor_added=${sage_doctor_added#"$sage_doctor_element"}
        sage_doctor_added=${sage_doctor_added#:}
        sage_doctor_rest=":${sage_doctor_value}:"
        case $sage_doctor_rest in
          *":${sage_doctor_element}:"*)
            sage_doctor_value=${sage_doctor_rest%%":${sage_doctor_element}:"*}
            sage_doctor_value="${sage_doctor_value}:${sage_doctor_rest#*":${sage_doctor_element}:"}"
            sage_doctor_value=${sage_doctor_value#:}
            sage_doctor_value=${sage_doctor_value%:}
            ;;
        esac
      done
      if [ -n "$sage_doctor_value$sage_doctor_had" ]; then
        export "$sage_doctor_name=$sage_doctor_value"
      else
        unset -v "$sage_doctor_name"
      fi
    elif [ "$sage_doctor_value" = "$sage_doctor_set" ]; then
      if [ -n "$sage_doctor_had" ]; then
        export "$sage_doctor_name=$sage_doctor_old"
      else
        unset -v "$sage_doctor_name"
      fi
    fi
  done
  unset -v SAGE_DOCTOR_ENV SAGE_DOCTOR_ENV_NAMES
  unset -v sage_doctor_names sage_doctor_name sage_doctor_is sage_doctor_value sage_doctor_had sage_doctor_old
  unset -v sage_doctor_set sage_doctor_added sage_doctor_element sage_doctor_rest
}

sage_doctor_deactivate() {
  sage_doctor_undo
  unset -f sage_doctor_undo sage_doctor_deactivate
}

# NAME VALUE: gives NAME this value and notes what it was.
sage_doctor_force() {
  eval "sage_doctor_had=\${$1+x} sage_doctor_old=\${$1-}"
  if [ "$sage_doctor_had" = x ] && [ "$sage_doctor_old" = "$2" ]; then return 0; fi
  if [ "$sage_doctor_had" = x ]; then export "SAGE_DOCTOR_ENV_OLD_$1=$sage_doctor_old"; fi
  export "SAGE_DOCTOR_ENV_SET_$1=$2"
  export "$1=$2"
  SAGE_DOCTOR_ENV_NAMES="${SAGE_DOCTOR_ENV_NAMES:+$SAGE_DOCTOR_ENV_NAMES:}$1"
}

# The same, unless NAME has a value of your own.
sage_doctor_set() {
  eval "sage_doctor_old=\${$1-}"
  if [ -z "$sage_doctor_old" ]; then sage_doctor_force "$1" "$2"; fi
}

# NAME FOLDER: puts FOLDER in front of the list NAME, unless it is in front already.
sage_doctor_prepend() {
  eval "sage_doctor_had=\${$1+x} sage_doctor_old=\${$1-}"
  eval "sage_doctor_added=\${SAGE_DOCTOR_ENV_ADDED_$1-}"
  case "${sage_doctor_old}:" in
    "${2}:"*) return 0 ;;
  esac
  if [ -z "$sage_doctor_added" ]; then
    SAGE_DOCTOR_ENV_NAMES="${SAGE_DOCTOR_ENV_NAMES:+$SAGE_DOCTOR_ENV_NAMES:}$1"
    if [ "$sage_doctor_had" = x ]; then export "SAGE_DOCTOR_ENV_OLD_$1="; fi
  fi
  export "SAGE_DOCTOR_ENV_ADDED_$1=$2${sage_doctor_added:+:$sage_doctor_added}"
  export "$1=$2${sage_doctor_old:+:$sage_doctor_old}"
}

sage_doctor_undo
sage_doctor_had='' sage_doctor_old='' sage_doctor_added=''
export SAGE_DOCTOR_ENV=@MARK@
export SAGE_DOCTOR_ENV_NAMES=''

@SETTINGS@
unset -v sage_doctor_had sage_doctor_old sage_doctor_added
unset -f sage_doctor_force sage_doctor_set sage_doctor_prepend
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
printf '%s\n' @REASON@ >&2; return 1
