@@script
@HEADER@
#
# Source it, as often as you like:   source FILE       (tcsh, which csh is nearly everywhere)
# Undo it:                           sage_doctor_deactivate
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone
# exactly and told from your own values.

# Takes back what the notes say, whichever run and whichever shell made them. A
# value that was changed since is left alone. csh has no functions: this is one
# alias of many lines, and an alias can neither call another, nor use eval, nor
# have a loop in a loop. So there is a paragraph for each variable that any such
# script may set. A list is taken apart as words: its blanks become {_}, its
# colons blanks, and each element has an x in front, so that none is empty.
alias sage_doctor_deactivate '\
@UNDO@
unsetenv SAGE_DOCTOR_ENV\
unsetenv SAGE_DOCTOR_ENV_NAMES\
if ($?sage_doctor_active) unalias sage_doctor_deactivate\
unset sage_doctor_active sage_doctor_list sage_doctor_all sage_doctor_rest sage_doctor_added sage_doctor_taken'
unset sage_doctor_active
sage_doctor_deactivate
set sage_doctor_active
setenv SAGE_DOCTOR_ENV @MARK@
setenv SAGE_DOCTOR_ENV_NAMES ""

@SETTINGS@
unset sage_doctor_value sage_doctor_change sage_doctor_list
@@set
# @WHY@
set sage_doctor_value = @VALUE@
set sage_doctor_change = 1
if ($?@VARIABLE@) then
  if ("x${@VARIABLE@:q}" != x) set sage_doctor_change = 0
endif
if ($sage_doctor_change) then
  if ($?@VARIABLE@) then
    setenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@ "${@VARIABLE@:q}"
  endif
  setenv SAGE_DOCTOR_ENV_SET_@VARIABLE@ "${sage_doctor_value:q}"
  setenv @VARIABLE@ "${sage_doctor_value:q}"
  if ("x${SAGE_DOCTOR_ENV_NAMES}" != x) setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}:"
  setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}@VARIABLE@"
endif

@@force
# @WHY@
set sage_doctor_value = @VALUE@
set sage_doctor_change = 1
if ($?@VARIABLE@) then
  if ("x${@VARIABLE@:q}" == "x${sage_doctor_value:q}") set sage_doctor_change = 0
endif
if ($sage_doctor_change) then
  if ($?@VARIABLE@) then
    setenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@ "${@VARIABLE@:q}"
  endif
  setenv SAGE_DOCTOR_ENV_SET_@VARIABLE@ "${sage_doctor_value:q}"
  setenv @VARIABLE@ "${sage_doctor_value:q}"
  if ("x${SAGE_DOCTOR_ENV_NAMES}" != x) setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}:"
  setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}@VARIABLE@"
endif

@@prepend
# @WHY@
@ELEMENTS@

@@element
set sage_doctor_value = @VALUE@
set sage_doctor_change = 1
if ($?@VARIABLE@) then
  set sage_doctor_list = "x${@VARIABLE@:q:as/ /{_}/:as/:/ x/}"
  set sage_doctor_list = (${sage_doctor_list:x})
  if ("$sage_doctor_list[1]:q" == "x${sage_doctor_value:q:as/ /{_}/}") set sage_doctor_change = 0
else
  setenv @VARIABLE@ ""
  set sage_doctor_change = 2
endif
if ($sage_doctor_change) then
  if ($?SAGE_DOCTOR_ENV_ADDED_@VARIABLE@) then
    setenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@ "${sage_doctor_value:q}:${SAGE_DOCTOR_ENV_ADDED_@VARIABLE@:q}"
  else
    setenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@ "${sage_doctor_value:q}"
    if ($sage_doctor_change == 1) setenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@ ""
    if ("x${SAGE_DOCTOR_ENV_NAMES}" != x) setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}:"
    setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}@VARIABLE@"
  endif
  if ("x${@VARIABLE@:q}" == x) then
    setenv @VARIABLE@ "${sage_doctor_value:q}"
  else
    setenv @VARIABLE@ "${sage_doctor_value:q}:${@VARIABLE@:q}"
  endif
endif
@@undo_set
if ($?SAGE_DOCTOR_ENV_SET_@VARIABLE@ && $?@VARIABLE@) then\
  if ("x${@VARIABLE@:q}" == "x${SAGE_DOCTOR_ENV_SET_@VARIABLE@:q}") then\
    if ($?SAGE_DOCTOR_ENV_OLD_@VARIABLE@) then\
      setenv @VARIABLE@ "${SAGE_DOCTOR_ENV_OLD_@VARIABLE@:q}"\
    else\
      unsetenv @VARIABLE@\
    endif\
  endif\
endif\
unsetenv SAGE_DOCTOR_ENV_SET_@VARIABLE@\
unsetenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@\
@@undo_prepend
if ($?SAGE_DOCTOR_ENV_ADDED_@VARIABLE@ && $?@VARIABLE@) then\
  set sage_doctor_all = "x${@VARIABLE@:q:as/ /{_}/:as/:/ x/}"\
  set sage_doctor_rest = (${sage_doctor_all:x})\
  set sage_doctor_list = "${sage_doctor_rest:q}"\
  set sage_doctor_list = "${sage_doctor_list:q:s/x//:as/ x/:/:as/{_}/ /}"\
  if ("x${sage_doctor_list:q}" != "x${@VARIABLE@:q}") then\
    echo "sage_doctor_deactivate: csh cannot take @VARIABLE@ apart; it stays as it is"\
  else\
    set sage_doctor_added = "x${SAGE_DOCTOR_ENV_ADDED_@VARIABLE@:q:as/ /{_}/:as/:/ x/}"\
    set sage_doctor_added = (${sage_doctor_added:x})\
    set sage_doctor_all = ""\
    set sage_doctor_taken = 0\
    while ($#sage_doctor_rest)\
      if (! $sage_doctor_taken && "$sage_doctor_rest[1]:q" == "$sage_doctor_added[1]:q") then\
        set sage_doctor_taken = 1\
      else if ("x${sage_doctor_all:q}" == x) then\
        set sage_doctor_all = "$sage_doctor_rest[1]:q"\
      else\
        set sage_doctor_all = "${sage_doctor_all:q} $sage_doctor_rest[1]:q"\
      endif\
      shift sage_doctor_rest\
      if ($#sage_doctor_rest == 0 && $#sage_doctor_added > 1) then\
        shift sage_doctor_added\
        set sage_doctor_rest = (${sage_doctor_all:x})\
        set sage_doctor_all = ""\
        set sage_doctor_taken = 0\
      endif\
    end\
    if ("x${sage_doctor_all:q}" == x && ! $?SAGE_DOCTOR_ENV_OLD_@VARIABLE@) then\
      unsetenv @VARIABLE@\
    else\
      set sage_doctor_list = "${sage_doctor_all:q:s/x//:as/ x/:/:as/{_}/ /}"\
      setenv @VARIABLE@ "${sage_doctor_list:q}"\
    endif\
  endif\
endif\
unsetenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@\
unsetenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@\
@@kept
# @KEEPS@

@@failure
echo @REASON@; exit 1
