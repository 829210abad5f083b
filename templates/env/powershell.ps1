@@script
@HEADER@
#
# Dot-source it, as often as you like:   . ./FILE
# Undo it:                               sage_doctor_deactivate
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone
# and told from your own values.
# A variable that is set but empty counts as not set, as it does in PowerShell before 7.5.

# $null takes the variable away. It must not come to .NET as a string: there it
# would be an empty one.
function global:sage_doctor_put([string]$name, $value) {
  if ([string]::IsNullOrEmpty($value)) { $value = [NullString]::Value }
  [Environment]::SetEnvironmentVariable($name, $value)
}

# Takes back what these notes say, whichever run made them. A value that was
# changed since is left alone.
function global:sage_doctor_undo {
  foreach ($name in ([string][Environment]::GetEnvironmentVariable('SAGE_DOCTOR_ENV_NAMES')).Split(':')) {
    if ($name -cnotmatch '^[A-Za-z_][A-Za-z0-9_]*$') { continue }
    $value = [Environment]::GetEnvironmentVariable($name)
    $old = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_OLD_$name")
    $set = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_SET_$name")
    $added = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_ADDED_$name")
    if ($null -ne $value -and $added) {
      $folders = [System.Collections.Generic.List[string]]::new([string[]]$value.Split(':'))
      foreach ($element in $added.Split(':')) { [void]$folders.Remove($element) }
      sage_doctor_put $name ($folders -join ':')
    } elseif ($null -ne $value -and $value -ceq $set) {
      sage_doctor_put $name $old
    }
    foreach ($kind in 'OLD', 'SET', 'ADDED') { sage_doctor_put "SAGE_DOCTOR_ENV_${kind}_$name" $null }
  }
  sage_doctor_put 'SAGE_DOCTOR_ENV' $null
  sage_doctor_put 'SAGE_DOCTOR_ENV_NAMES' $null
}

function global:sage_doctor_deactivate {
  sage_doctor_undo
  'sage_doctor_put', 'sage_doctor_undo', 'sage_doctor_deactivate' | ForEach-Object { Remove-Item "Function:$_" }
}

# Notes that the variable was changed.
function sage_doctor_note([string]$name) {
  $names = [Environment]::GetEnvironmentVariable('SAGE_DOCTOR_ENV_NAMES')
  if ($names) { $name = "${names}:$name" }
  sage_doctor_put 'SAGE_DOCTOR_ENV_NAMES' $name
}

# Gives the variable this value and notes what it was.
function sage_doctor_force([string]$name, [string]$value) {
  $old = [Environment]::GetEnvironmentVariable($name)
  if ($old -ceq $value) { return }
  sage_doctor_put "SAGE_DOCTOR_ENV_OLD_$name" $old
  sage_doctor_put "SAGE_DOCTOR_ENV_SET_$name" $value
  sage_doctor_put $name $value
  sage_doctor_note $name
}

# The same, unless the variable has a value of your own.
function sage_doctor_set([string]$name, [string]$value) {
  if (-not [Environment]::GetEnvironmentVariable($name)) { sage_doctor_force $name $value }
}

# Puts the folder in front of the list, unless it is in front already.
function sage_doctor_prepend([string]$name, [string]$folder) {
  $old = [Environment]::GetEnvironmentVariable($name)
  if ("${old}:".StartsWith("${folder}:", [StringComparison]::Ordinal)) { return }
  $added = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_ADDED_$name")
  if (-not $added) { sage_doctor_note $name }
  if ($added) { $added = "${folder}:$added" } else { $added = $folder }
  sage_doctor_put "SAGE_DOCTOR_ENV_ADDED_$name" $added
  if ($old) { $folder = "${folder}:$old" }
  sage_doctor_put $name $folder
}

sage_doctor_undo
sage_doctor_put 'SAGE_DOCTOR_ENV' '@MARK@'

@SETTINGS@
'sage_doctor_note', 'sage_doctor_force', 'sage_doctor_set', 'sage_doctor_prepend' |
  ForEach-Object { Remove-Item "Function:$_" }
@@set
# @WHY@
sage_doctor_set '@VARIABLE@' @VALUE@

@@force
# @WHY@
sage_doctor_force '@VARIABLE@' @VALUE@

@@prepend
# @WHY@
@ELEMENTS@

@@element
sage_doctor_prepend '@VARIABLE@' @VALUE@
@@kept
# @KEEPS@

@@failure
throw @REASON@
