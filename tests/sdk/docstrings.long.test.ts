import * as path from 'node:path';
import * as ts from 'typescript';
import { ROOT } from '../setup/sources';

const ENTRIES = ['sdk/index.ts', 'sdk/updates/index.ts', 'sdk/conform/index.ts'].map((file) => path.join(ROOT, file));

test('an editor explains every export of the sdk', () => {
  const { config } = ts.readConfigFile(path.join(ROOT, 'tsconfig.json'), ts.sys.readFile) as { config: object };
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, ROOT);
  const program = ts.createProgram(ENTRIES, options);
  const checker = program.getTypeChecker();
  const declared = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const exported = ENTRIES.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!);
    return module ? checker.getExportsOfModule(module).map(declared) : [];
  });
  expect(exported.length).toBeGreaterThan(200);
  const unexplained = exported.filter((symbol) => symbol.getDocumentationComment(checker).length === 0);
  expect(unexplained.map(({ name }) => name)).toEqual([]);
});
