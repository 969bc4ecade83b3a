"use strict";var _freeze = await jitiImport("../../../cli/backup/freeze");

/** Stops the process that is named last, says so, and would let it stand still for an hour. */
void (0, _freeze.whileStopped)([Number(process.argv.at(-1))], () => {
  process.stdout.write('stopped\n');
  return new Promise((resolve) => setTimeout(resolve, 3_600_000));
}); /* v9-d40f576e029942a4 */
