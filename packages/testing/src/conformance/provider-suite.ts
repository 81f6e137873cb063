import type { ConformanceSuite } from './conformance-suite.ts'
import type { ProviderSubject } from './provider-subject.ts'
import { archiveCases } from './provider/archive-cases.ts'
import { copyCases } from './provider/copy-cases.ts'
import { envCases } from './provider/env-cases.ts'
import { execCases } from './provider/exec-cases.ts'
import { execStopCases } from './provider/exec-stop-cases.ts'
import { execStreamCases } from './provider/exec-stream-cases.ts'
import { fsContentCases } from './provider/fs-content-cases.ts'
import { fsPathCases } from './provider/fs-path-cases.ts'
import { fsTreeCases } from './provider/fs-tree-cases.ts'
import { gitCases } from './provider/git-cases.ts'
import { lifecycleCases } from './provider/lifecycle-cases.ts'
import { manifestCases } from './provider/manifest-cases.ts'
import { serviceCases } from './provider/service-cases.ts'
import { spawnCases } from './provider/spawn-cases.ts'
import { terminalCases } from './provider/terminal-cases.ts'

/** What every sandbox provider promises. */
export const providerSuite: ConformanceSuite<ProviderSubject> = {
  name: 'provider',
  cases: [
    ...manifestCases,
    ...lifecycleCases,
    ...copyCases,
    ...fsContentCases,
    ...fsTreeCases,
    ...fsPathCases,
    ...execCases,
    ...execStreamCases,
    ...execStopCases,
    ...envCases,
    ...spawnCases,
    ...serviceCases,
    ...gitCases,
    ...archiveCases,
    ...terminalCases,
  ],
}
