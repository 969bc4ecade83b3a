import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './setup/sources';

interface Defect {
  readonly name: string;
  readonly file: string;
}

// eslint-disable-next-line @typescript-eslint/no-require-imports
const { plantDefect, readDefects } = require('../scripts/planted') as {
  plantDefect: (defect: Defect, read?: (file: string) => string) => string;
  readDefects: () => Defect[];
};

/** All defects at once: no two of them are in the same place. */
function plantAll(): ReadonlyMap<string, string> {
  const planted = new Map<string, string>();
  const read = (file: string): string => planted.get(join(ROOT, file)) ?? ts.sys.readFile(join(ROOT, file)) ?? '';
  for (const defect of readDefects()) planted.set(join(ROOT, defect.file), plantDefect(defect, read));
  return planted;
}

function findErrors(planted: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file)) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const readFile = host.readFile.bind(host);
  host.readFile = (file) => planted.get(file) ?? readFile(file);
  const program = ts.createProgram([...planted.keys()], { ...options, noEmit: true }, host);
  return [...planted.keys()]
    .flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

test('a copy of the checkout with a planted defect compiles', () => {
  expect(findErrors(plantAll())).toEqual([]);
  const [file = ''] = plantAll().keys();
  expect(findErrors(new Map([[file, 'export const wrong: number = "text";']]))).toHaveLength(1);
});
