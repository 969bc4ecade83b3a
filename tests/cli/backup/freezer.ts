import { whileStopped } from '../../../cli/backup/freeze';

/** Stops the process that is named last, says so, and would let it stand still for an hour. */
void whileStopped([Number(process.argv.at(-1))], () => {
  process.stdout.write('stopped\n');
  return new Promise((resolve) => setTimeout(resolve, 3_600_000));
});
