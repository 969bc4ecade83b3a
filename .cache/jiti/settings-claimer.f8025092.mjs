"use strict";var _claim = await jitiImport("../../settings/claim");

/** Claims a file, says what came of it, and has it until it is stopped. */
try {
  (0, _claim.claim)(process.argv.at(-1) ?? '', { what: 'the state', onLost: () => process.exit(3) });
  process.stdout.write('has it\n');
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${String(error)}\n`);
} /* v9-9edde08d195906f1 */
