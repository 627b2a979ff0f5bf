# What a JSON report of vitest comes to, for .ci/run: `jq -r -f .ci/test-report.jq --arg print WHAT --arg root FOLDER REPORT`.
# WHAT is counts (how many tests passed and failed), failures (what failed and why) or again (the files to run once more).

def text: (.failureMessages // []) | join("\n");
def relative: ltrimstr($root + "/");
# At most 2000 characters of a failure: the rest stands further up in the log.
def failure($file): "=== FAILED: \($file.name | relative)\n\(.)\n";

[.testResults[] | . + { failed: [.assertionResults[] | select(.status == "failed")] } | select(.status == "failed")] as $files
| {
    counts: "\(.numPassedTests) \(.numFailedTests)",
    failures: [
      $files[] as $file
      | if ($file.failed | length) > 0 then $file.failed[] | "\(.fullName)\n\(text[:2000])" else $file.message[:2000] end
      | failure($file)
    ] | join("\n"),
    # None where a second try would hide what the first one found: a property with a counterexample would be run with other
    # values, and a file that cannot be loaded is broken.
    again: (
      if any($files[]; (.failed | length) == 0 or any(.failed[]; text | test("Property failed after|Counterexample"))) then ""
      else [$files[].name | relative] | join("\n") end
    )
  }[$print]
