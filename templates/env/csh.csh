@@script
@HEADER@
#
# Source it, as often as you like:   source FILE
# Undo it:                           sage_doctor_deactivate
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone exactly and told from your own values.

if ($?sage_doctor_active) then
  sage_doctor_deactivate
endif

# csh has no functions: this is one alias of many lines. It takes back what the notes say; a value that was changed
# since is left alone.
alias sage_doctor_deactivate '\
@UNDO@
unsetenv SAGE_DOCTOR_ENV\
unsetenv SAGE_DOCTOR_ENV_NAMES\
if ($?sage_doctor_active) unalias sage_doctor_deactivate\
unset sage_doctor_active sage_doctor_list'
sage_doctor_deactivate
set sage_doctor_active
setenv SAGE_DOCTOR_ENV @MARK@
setenv SAGE_DOCTOR_ENV_NAMES ""

@SETTINGS@
unset sage_doctor_value sage_doctor_change
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
set sage_doctor_change = 1
if ($?@VARIABLE@) then
  if ("x${@VARIABLE@:q}" == x@VALUE@ || "x${@VARIABLE@:q}" =~ x@VALUE@":*") set sage_doctor_change = 0
endif
if ($sage_doctor_change) then
  if (! $?SAGE_DOCTOR_ENV_ADDED_@VARIABLE@) then
    if ("x${SAGE_DOCTOR_ENV_NAMES}" != x) setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}:"
    setenv SAGE_DOCTOR_ENV_NAMES "${SAGE_DOCTOR_ENV_NAMES}@VARIABLE@"
    setenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@ @VALUE@
    if ($?@VARIABLE@) setenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@ ""
  else
    setenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@ @VALUE@":${SAGE_DOCTOR_ENV_ADDED_@VARIABLE@:q}"
  endif
  if (! $?@VARIABLE@) setenv @VARIABLE@ ""
  if ("x${@VARIABLE@:q}" == x) then
    setenv @VARIABLE@ @VALUE@
  else
    setenv @VARIABLE@ @VALUE@":${@VARIABLE@:q}"
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
  set sage_doctor_list = "${@VARIABLE@:q}"\
@UNDO_ELEMENTS@
  if ("x${sage_doctor_list:q}" != x || $?SAGE_DOCTOR_ENV_OLD_@VARIABLE@) then\
    setenv @VARIABLE@ "${sage_doctor_list:q}"\
  else\
    unsetenv @VARIABLE@\
  endif\
endif\
unsetenv SAGE_DOCTOR_ENV_ADDED_@VARIABLE@\
unsetenv SAGE_DOCTOR_ENV_OLD_@VARIABLE@\
@@undo_element
  if ("x${sage_doctor_list:q}" == "x@PLAIN@") then\
    set sage_doctor_list = ""\
  else if ("x${sage_doctor_list:q}" =~ "x@PLAIN@:*") then\
    set sage_doctor_list = "${sage_doctor_list:s|@PLAIN@:||}"\
  else if ("x${sage_doctor_list:q}" =~ "*:@PLAIN@:*") then\
    set sage_doctor_list = "${sage_doctor_list:s|:@PLAIN@:|:|}"\
  else if ("x${sage_doctor_list:q}" =~ "*:@PLAIN@") then\
    set sage_doctor_list = "${sage_doctor_list}:"\
    set sage_doctor_list = "${sage_doctor_list:s|:@PLAIN@:||}"\
  endif\
@@kept
# @VARIABLE@ keeps your own value @KEPT@ (with --force: @PLAIN@).
# @WHY@

@@failure
echo @REASON@; exit 1
