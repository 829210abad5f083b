@@script
#%Module1.0
@HEADER@
#
# Put it into a folder of MODULEPATH; `module load` and `module unload` do and undo it.

module-whatis "Environment for ROCm, made by sage-doctor"

@SETTINGS@
setenv SAGE_DOCTOR_ENV "@MARK@"
@@set
# @WHY@
setenv @VARIABLE@ @VALUE@

@@force
# @WHY@
if {[llength [info commands pushenv]]} {
  pushenv @VARIABLE@ @VALUE@
} else {
  setenv @VARIABLE@ @VALUE@
}

@@prepend
# @WHY@
@ELEMENTS@

@@element
prepend-path @VARIABLE@ @VALUE@
@@kept
# @KEEPS@

@@failure
error @REASON@
