@@script
@HEADER@
#
# Dot-source it, as often as you like:   . ./FILE
# Undo it:                               sage_doctor_deactivate
# What it sets is noted in SAGE_DOCTOR_ENV_* variables, so that it can be undone and told from your own values.
# PowerShell can't tell an empty variable from one that is not set: an empty one is gone afterwards.

# Takes back what these notes say, whichever run made them. A value that was changed since is left alone.
function global:sage_doctor_undo {
  foreach ($name in ("$env:SAGE_DOCTOR_ENV_NAMES" -split ':')) {
    if ($name -cnotmatch '^[A-Za-z_][A-Za-z0-9_]*$') { continue }
    $value = [Environment]::GetEnvironmentVariable($name)
    $old = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_OLD_$name")
    $set = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_SET_$name")
    $added = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_ADDED_$name")
    if ($null -ne $value -and $added) {
      $folders = [System.Collections.Generic.List[string]]::new()
      foreach ($folder in ($value -split ':')) { $folders.Add($folder) }
      foreach ($element in ($added -split ':')) { [void]$folders.Remove($element) }
      [Environment]::SetEnvironmentVariable($name, ($folders -join ':'))
    } elseif ($null -ne $value -and $value -ceq $set) {
      [Environment]::SetEnvironmentVariable($name, $old)
    }
    foreach ($kind in 'OLD', 'SET', 'ADDED') {
      [Environment]::SetEnvironmentVariable("SAGE_DOCTOR_ENV_${kind}_$name", $null)
    }
  }
  [Environment]::SetEnvironmentVariable('SAGE_DOCTOR_ENV', $null)
  [Environment]::SetEnvironmentVariable('SAGE_DOCTOR_ENV_NAMES', $null)
}

function global:sage_doctor_deactivate {
  sage_doctor_undo
  Remove-Item -Path Function:sage_doctor_undo, Function:sage_doctor_deactivate
}

function sage_doctor_note([string]$name) {
  $names = [Environment]::GetEnvironmentVariable('SAGE_DOCTOR_ENV_NAMES')
  [Environment]::SetEnvironmentVariable('SAGE_DOCTOR_ENV_NAMES', $(if ($names) { "${names}:$name" } else { $name }))
}

# Gives the variable this value and notes what it was.
function sage_doctor_force([string]$name, [string]$value) {
  $old = [Environment]::GetEnvironmentVariable($name)
  if ($old -ceq $value) { return }
  [Environment]::SetEnvironmentVariable("SAGE_DOCTOR_ENV_OLD_$name", $old)
  [Environment]::SetEnvironmentVariable("SAGE_DOCTOR_ENV_SET_$name", $value)
  [Environment]::SetEnvironmentVariable($name, $value)
  sage_doctor_note $name
}

# The same, unless the variable has a value of your own.
function sage_doctor_set([string]$name, [string]$value) {
  if (-not [Environment]::GetEnvironmentVariable($name)) { sage_doctor_force $name $value }
}

# Puts the folder in front of the list, unless it is in front already.
function sage_doctor_prepend([string]$name, [string]$folder) {
  $old = [Environment]::GetEnvironmentVariable($name)
  if ($old -ceq $folder -or ($old -and $old.StartsWith("${folder}:", [StringComparison]::Ordinal))) { return }
  $added = [Environment]::GetEnvironmentVariable("SAGE_DOCTOR_ENV_ADDED_$name")
  if (-not $added) { sage_doctor_note $name }
  [Environment]::SetEnvironmentVariable("SAGE_DOCTOR_ENV_ADDED_$name", $(if ($added) { "${folder}:$added" } else { $folder }))
  [Environment]::SetEnvironmentVariable($name, $(if ($old) { "${folder}:$old" } else { $folder }))
}

sage_doctor_undo
[Environment]::SetEnvironmentVariable('SAGE_DOCTOR_ENV', '@MARK@')

@SETTINGS@
Remove-Item -Path Function:sage_doctor_note, Function:sage_doctor_force, Function:sage_doctor_set, Function:sage_doctor_prepend
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
# @VARIABLE@ keeps your own value @KEPT@ (with --force: @PLAIN@).
# @WHY@

@@failure
throw @REASON@
