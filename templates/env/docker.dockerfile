@@script
@HEADER@
#
# Instructions for a Dockerfile whose image holds these folders.

@SETTINGS@
ENV SAGE_DOCTOR_ENV="@MARK@"
@@set
# @WHY@
ENV @VARIABLE@="@VALUE@"

@@force
# @WHY@
ENV @VARIABLE@="@VALUE@"

@@prepend
# @WHY@
@ELEMENTS@

@@element
ENV @VARIABLE@="@VALUE@${@VARIABLE@:+:${@VARIABLE@}}"
@@kept
# @KEEPS@

@@failure
sage-doctor-env-failed @REASON@
