import { endQuietlyOnClosedPipe, processIo } from './processIo';
import { runCli } from './run';

endQuietlyOnClosedPipe();

const argv = process.argv.slice(2);

// The code is set instead of calling exit, so that pending writes to a pipe finish first.
void runCli(argv, processIo()).then((code) => {
  process.exitCode = code;
  // A shell waits for this process to end, so a silent server must not delay it.
  if (argv[0] === '__complete') process.stdout.write('', () => process.exit());
});
