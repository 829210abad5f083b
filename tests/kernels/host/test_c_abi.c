/* The header from C, the shared library as a program in another language sees it. */
#include <sage/attention.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  sage_error error;
  sage_context* context = (sage_context*)&error;
  memset(&error, 0xff, sizeof error);
  if (sage_attention_version() != SAGE_ATTENTION_VERSION) return 1;
  if (sage_context_from_folder("/nonexistent", NULL, &context, &error) != SAGE_E_FOLDER) return 2;
  if (context != NULL || error.status != SAGE_E_FOLDER || error.driver_code != 0) return 3;
  if (strlen(error.text) == 0 || strlen(error.text) >= sizeof error.text) return 4;
  if (strcmp(sage_status_text(SAGE_E_FOLDER), "folder cannot be read") != 0) return 5;
  printf("%s\n", error.text);
  return 0;
}
