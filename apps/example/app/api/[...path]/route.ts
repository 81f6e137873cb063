import { handle } from '../../../lib/server/handle.ts'

export const dynamic = 'force-dynamic'

export { handle as DELETE, handle as GET, handle as POST }
