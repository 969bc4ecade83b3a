import { createLog } from '../../workers/log';

test.each(['err', 'error'])('the log of a worker has the words of what failed, under %s', (key) => {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).warn(
    { [key]: new Error('no room') },
    'nothing written',
  );
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    ...{ msg: 'nothing written' },
    [key]: { message: 'no room', stack: expect.stringContaining('log.test') },
  });
});
